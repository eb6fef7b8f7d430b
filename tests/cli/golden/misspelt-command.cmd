recrod -a
