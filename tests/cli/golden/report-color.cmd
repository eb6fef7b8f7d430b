report --stdio-color frob
