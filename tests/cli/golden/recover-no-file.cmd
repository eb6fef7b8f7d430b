recover -q -n {corpus}/nothing
