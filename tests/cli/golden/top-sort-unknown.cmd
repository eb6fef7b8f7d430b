top --stdio -s frob
