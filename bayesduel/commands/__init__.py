"""The commands of the command line, one file each, in an attribute called ``command``.

A command file imports nothing heavy at its top (``bayesduel --help`` imports every one).
"""
