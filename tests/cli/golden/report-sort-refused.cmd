report -s comm,typeoff {corpus}/local/clockid.data
