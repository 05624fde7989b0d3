# SPDX-License-Identifier: BSD-2-Clause
"""Spack's recipe, for 0.23 and later:

    spack repo add packaging/spack
    spack dev-build hearth@develop ^openmpi
"""
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass  # before Spack 1.0 it comes from spack.package


class Hearth(AutotoolsPackage):
    """One shared address space for the ranks of an MPI program: allocate once,
    load and store on any rank, and order that by locks, flags and barriers."""

    homepage = "https://example.org/hearth"
    git = "https://example.org/hearth/hearth.git"

    license("BSD-2-Clause")

    version("develop", branch="main")

    variant("libfabric", default=True,
            description="hearth-info lists the fabrics of a machine")
    variant("sodium", default=True,
            description="keyed hash over the datagrams of the udp transport")
    variant("json", default=True, description="HEARTH_STATS=json:FILE")
    variant("clusters", default=True,
            description="jobs over several clusters")
    variant("static", default=False, description="libhearth.a, too")
    variant("python", default=False, description="the module for Python")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    # The archive of a release has what these make.
    depends_on("autoconf", type="build", when="@develop")
    depends_on("automake", type="build", when="@develop")
    depends_on("libtool", type="build", when="@develop")
    depends_on("m4", type="build", when="@develop")
    depends_on("doxygen", type="build", when="@develop")

    depends_on("mpi@3:")
    depends_on("libfabric@1.5:", when="+libfabric")
    depends_on("libsodium", when="+sodium")
    depends_on("openssl@3:", when="+clusters")
    depends_on("openssl@3:", when="+sodium")
    depends_on("inih", when="+clusters")
    depends_on("xxhash@0.8:", type="build")
    depends_on("jansson@2.8:", when="+json")
    depends_on("check@0.11:", type="test")
    depends_on("python@3.8:", when="+python", type=("build", "run"))
    depends_on("py-numpy", when="+python", type="run")
    depends_on("py-mpi4py", when="+python", type="run")
    extends("python", when="+python")

    conflicts("platform=darwin", msg="Hearth runs on Linux")
    conflicts("platform=windows", msg="Hearth runs on Linux")

    def autoreconf(self, spec, prefix):
        if not os.path.exists("configure"):
            Executable("./autogen.sh")()

    def configure_args(self):
        args = [f"CC={self.spec['mpi'].mpicc}"]
        args += self.with_or_without("libfabric")
        args += self.with_or_without("libsodium", variant="sodium")
        args += self.with_or_without("libcrypto", variant="sodium")
        args += self.with_or_without("jansson", variant="json")
        args += self.with_or_without("clusters")
        args += self.enable_or_disable("static")
        return args

    @run_after("install")
    def python_module(self):
        if not self.spec.satisfies("+python"):
            return
        folder = os.path.join(self.prefix.share, "hearth", "python")
        mkdirp(python_purelib)
        for name in ("hearth.py", "hearth_place.py"):
            install(os.path.join(folder, name), python_purelib)

    def test_info(self):
        """hearth-info runs, and names its version"""
        info = which(self.prefix.bin.join("hearth-info"))
        out = info("--version", output=str.split, error=str.split)
        assert "hearth-info" in out
