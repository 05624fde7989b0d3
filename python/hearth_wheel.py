# SPDX-License-Identifier: BSD-2-Clause
"""Makes the wheel that pip installs (PEP 517): hearth.py, and hearth_place.py,
by which it finds the library that it was installed with."""
import base64
import hashlib
import os
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = "hearth.py", "hearth_place.py"
METADATA = """\
Metadata-Version: 2.1
Name: hearth-dsm
Version: {version}
Summary: numpy arrays that the ranks of an MPI program share
License: BSD-2-Clause
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: mpi
Requires-Dist: mpi4py; extra == "mpi"
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: hearth_wheel
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _version():
    try:
        from hearth_place import version
    except ImportError:
        raise SystemExit(
            "hearth: this is the source folder: pip install the folder that "
            "'make install' has made, which knows where the library is "
            "(pkg-config --variable=python hearth)")
    return version


def _record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"{name},sha256={digest.decode().rstrip('=')},{len(content)}\n"


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    version = _version()
    info = f"hearth_dsm-{version}.dist-info"
    files = {}
    for name in MODULES:
        with open(os.path.join(HERE, name), "rb") as file:
            files[name] = file.read()
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    record = "".join(_record(*file) for file in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"hearth_dsm-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return wheel
