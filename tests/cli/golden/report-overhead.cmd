report --sort comm,overhead
