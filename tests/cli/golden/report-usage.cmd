report --sort comm,nonsense
