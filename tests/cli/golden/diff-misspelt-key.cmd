diff --sort dos {corpus}/local/clockid.data {corpus}/local/clockid.data
