"""What an operator's assistant can do: tools for the Model Context Protocol. They are a client of
the public HTTP API, so that they need no more than a key, and can do no more than it.
"""
