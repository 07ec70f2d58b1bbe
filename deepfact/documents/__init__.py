"""Reports in: a report's text, kept byte for byte, and what stands where in it.

    files       bytes of a file -> text, with its encoding, or the reason why not
    extract     PDF and DOCX -> text, in a process of its own with bounds on time and memory
    units       Markdown or plain text -> blocks; html_units does the same for HTML
    inline      the inside of a Markdown block -> its reading text, mapped back to the original
    sentences   reading text -> sentences
    markers     citation markers; references finds the reference list; resolve joins the two
    ratings     which sentences are checkable, and how relevant they are, by stated rules
    build       all of it: a text -> a `ReportRecord`
    report_json files that hold reports as JSON

Nothing here asks a model, reads the network or changes a character of a text.
"""
