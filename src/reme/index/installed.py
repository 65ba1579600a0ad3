"""Which version of a library is installed: read off the name of the folder that its installer left beside it.

``importlib.metadata`` tells the same, and loads the libraries for e-mail to do so, which takes a tenth of a search.
"""

from importlib.util import find_spec
from pathlib import Path

__all__ = ["version_of"]


def version_of(distribution: str, module: str) -> str:
    """The version of a distribution, or the empty string if its module is not there.

    Args:
        distribution: Its name in the package index.
        module: What is imported of it, which lies in the folder that its metadata lie in.
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    place = Path(spec.origin).parent
    folder = place if spec.submodule_search_locations is None else place.parent
    begins = f"{distribution}-".casefold()
    marks = [mark.stem for mark in folder.glob("*.dist-info") if mark.name.casefold().startswith(begins)]
    if len(marks) == 1:
        return marks[0][len(begins) :]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
