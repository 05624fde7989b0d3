# SPDX-License-Identifier: BSD-2-Clause
"""spack.py RECIPE CONFIGURE -- run Spack's recipe beside stand-ins for what
Spack gives it: every variant is on and off, and configure knows each word that
comes of it.  Spack itself is not needed, and not tested."""
import re
import subprocess
import sys
import types


class AutotoolsPackage:
    variants = {}

    def __init__(self, on):
        mpi = types.SimpleNamespace(mpicc="mpicc")
        self.on, self.spec = on, {"mpi": mpi}

    def _words(self, yes, no, name, variant):
        variant = variant or name
        if variant not in self.variants:
            raise SystemExit(f"spack.py: there is no variant {variant}")
        return [f"--{yes if self.on else no}-{name}"]

    def with_or_without(self, name, variant=None):
        return self._words("with", "without", name, variant)

    def enable_or_disable(self, name, variant=None):
        return self._words("enable", "disable", name, variant)


named = []


def depends_on(spec, type=("build", "link"), when=None):
    named.append(when or "")


def conflicts(spec, msg=None, when=None):
    named.append(when or "")


def variant(name, default=None, description=None):
    if not description:
        raise SystemExit(f"spack.py: {name} is not described")
    AutotoolsPackage.variants[name] = default


def extends(spec, when=None):
    named.append(when or "")


def run_after(phase):
    return lambda method: method


package = types.ModuleType("spack.package")
package.__dict__.update(
    AutotoolsPackage=AutotoolsPackage, depends_on=depends_on,
    conflicts=conflicts, variant=variant, extends=extends,
    run_after=run_after, license=lambda name: None,
    version=lambda *words, **more: None)
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = package
recipe = {}
with open(sys.argv[1]) as file:
    exec(compile(file.read(), sys.argv[1], "exec"), recipe)
for when in named:
    for name in re.findall(r"[+~](\w+)", when):
        if name not in AutotoolsPackage.variants:
            raise SystemExit(f"spack.py: when={when}: there is no such variant")
known = subprocess.run([sys.argv[2], "--help"], capture_output=True, text=True,
                       check=True).stdout
for on in True, False:
    for word in recipe["Hearth"](on).configure_args():
        stem = re.sub(r"^--(with|without|enable|disable)-", "", word)
        if word.startswith("--") and not re.search(
                rf"--(with|without|enable|disable)-{stem}\b", known):
            raise SystemExit(f"spack.py: configure knows no {word}")
print("the recipe names what configure knows")
