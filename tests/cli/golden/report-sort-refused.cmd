report -s comm,ipc_lbr {corpus}/local/clockid.data
