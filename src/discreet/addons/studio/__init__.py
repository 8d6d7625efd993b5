"""Studio: a page in the browser, served on loopback, from a file to a signed release.

The server (``server``) lets in one browser (``access``), holds tables (``tables``), and runs
long work in processes of their own (``runs``, ``worker``, ``work``). ``API.md`` is the contract
between the server and the page. Everything that the page does is a job that the command line can
run again; the server uses ``discreet.api`` and public names alone.
"""
