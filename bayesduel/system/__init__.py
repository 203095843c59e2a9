"""What a function finds around it: arguments, files, folders, memory, optional packages."""
