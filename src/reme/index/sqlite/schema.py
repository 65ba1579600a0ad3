"""The tables, and what identifies them: a store with another identity is emptied and filled anew.

A chunk's id is its file's id shifted by ``CHUNK_BITS`` plus its place in the file: a file's chunks are one range of
ids, and the neighbours of a chunk are found without looking anything up. What ranking reads of chunks stands apart from
what is shown of them, so that it lies close together.
"""

from dataclasses import asdict
from typing import Final

from reme.index.rows import IndexSettings
from reme.index.tokens import Tokenizer
from reme.vault import Layout

__all__ = ["CHUNK_BITS", "DROP", "SCHEMA", "VECTORS", "VERSION", "identity"]

VERSION: Final = 10
CHUNK_BITS: Final = 24

SCHEMA: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folded TEXT NOT NULL, base TEXT NOT NULL, layer TEXT NOT NULL,
  format TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, revision TEXT NOT NULL, counts INTEGER NOT NULL, chunks INTEGER NOT NULL, date TEXT,
  name TEXT NOT NULL, description TEXT NOT NULL, properties TEXT NOT NULL);
CREATE INDEX files_folded ON files(folded);
CREATE INDEX files_base ON files(base);
CREATE INDEX files_layer ON files(layer);
CREATE INDEX files_folder ON files(rtrim(path, replace(path, '/', '')), format);
CREATE INDEX files_document ON files(mtime_ns) WHERE format = 'document';
CREATE TABLE chunks(id INTEGER PRIMARY KEY, speaker TEXT, date TEXT);
CREATE TABLE texts(
  id INTEGER PRIMARY KEY, line INTEGER NOT NULL, end_line INTEGER NOT NULL, start INTEGER NOT NULL,
  end INTEGER NOT NULL, trail TEXT NOT NULL, hash TEXT NOT NULL, words BLOB NOT NULL, length INTEGER NOT NULL,
  text TEXT NOT NULL);
CREATE INDEX texts_empty ON texts(id) WHERE end = start;
CREATE TABLE segments(id INTEGER PRIMARY KEY, keys BLOB NOT NULL, lengths BLOB NOT NULL);
CREATE TABLE postings(
  segment INTEGER NOT NULL, term TEXT NOT NULL, places BLOB NOT NULL, PRIMARY KEY(segment, term)) WITHOUT ROWID;
CREATE TABLE dead(segment INTEGER NOT NULL, first INTEGER NOT NULL, chunks INTEGER NOT NULL);
CREATE INDEX dead_segment ON dead(segment, chunks);
CREATE TABLE placed(
  file INTEGER NOT NULL, position INTEGER NOT NULL, segment INTEGER NOT NULL, first INTEGER NOT NULL,
  chunks INTEGER NOT NULL, PRIMARY KEY(file, position)) WITHOUT ROWID;
CREATE INDEX placed_segment ON placed(segment);
CREATE TABLE embedded(chunk INTEGER PRIMARY KEY, place INTEGER);
CREATE INDEX embedded_place ON embedded(place);
CREATE TABLE links(
  source INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL, raw TEXT NOT NULL, anchor TEXT, alias TEXT,
  predicate TEXT, line INTEGER NOT NULL, origin TEXT NOT NULL, key TEXT NOT NULL, counts INTEGER NOT NULL,
  target INTEGER, PRIMARY KEY(source, place)) WITHOUT ROWID;
CREATE INDEX links_target ON links(target, source, counts, kind, predicate) WHERE target IS NOT NULL;
CREATE INDEX links_open ON links(source, kind) WHERE target IS NULL;
CREATE INDEX links_image ON links(source) WHERE kind = 'image';
CREATE INDEX links_key ON links(key);
CREATE TABLE aliases(alias TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY(alias, file)) WITHOUT ROWID;
CREATE INDEX aliases_file ON aliases(file);
CREATE TABLE tags(
  file INTEGER NOT NULL, folded TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY(file, folded)) WITHOUT ROWID;
CREATE INDEX tags_folded ON tags(folded);
CREATE TABLE fields(
  file INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(file, key, value)) WITHOUT ROWID;
CREATE TABLE problems(file INTEGER NOT NULL, rule TEXT NOT NULL, message TEXT NOT NULL, line INTEGER NOT NULL);
CREATE INDEX problems_file ON problems(file);
CREATE TABLE skipped(path TEXT NOT NULL, reason TEXT NOT NULL);
INSERT INTO meta VALUES ('position', 0), ('segments', 0), ('chunks', 0), ('length', 0), ('unsettled', 0);
INSERT INTO meta VALUES ('store', hex(randomblob(8)));
"""

VECTORS: Final = """
CREATE TABLE IF NOT EXISTS model(name TEXT NOT NULL, dim INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors(place INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, vector BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS blocks(
  id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, scales BLOB NOT NULL, rows BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS documents(
  revision TEXT PRIMARY KEY, made_by TEXT NOT NULL, parts BLOB NOT NULL, problem TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS renames(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
"""
"""What outlives the rows: vectors by the hash of what they are of and the text of documents by the hash of these, which
cost much to make; and renames, which are not seen again."""

DROP: Final = (
    "segments",
    "postings",
    "dead",
    "placed",
    "meta",
    "files",
    "chunks",
    "texts",
    "embedded",
    "links",
    "aliases",
    "tags",
    "fields",
    "problems",
    "skipped",
)


def identity(layout: Layout, settings: IndexSettings) -> str:
    """What the contents depend on besides the files."""
    chosen = asdict(settings) | {"uncounted_layers": sorted(settings.uncounted_layers)}
    return f"{VERSION} | {Tokenizer.fingerprint()} | {asdict(layout)} | {chosen}"
