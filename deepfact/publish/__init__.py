"""Publishing a benchmark version: a folder of Parquet, JSON Lines and metadata, and the Hub.

`deepfact.publish.build` makes the files, `deepfact.publish.folder` puts them down, and
`deepfact.publish.hub` sends them. Private claims and known answers never pass through here.
"""
