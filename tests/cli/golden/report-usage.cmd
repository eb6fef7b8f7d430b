report --sort comm,non/sense
