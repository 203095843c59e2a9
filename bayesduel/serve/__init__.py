"""Pages of a live study: judges answer in a browser, an administrator invites them and watches.

A Starlette application on one study. What it has to remember (invitations, consent, a pause) is
stored in the study's database, so that it may be killed and started again at any time.
"""
