report --sort comm,smybol {corpus}/local/clockid.data
