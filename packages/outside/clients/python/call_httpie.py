"""Calls a server with HTTPie; writes a line `call<TAB>answer` for each call."""

import json
import subprocess
import sys
from pathlib import Path

from told import BASE, TOKEN, told

HTTP = str(Path(sys.executable).parent / "http")


def status(*args, stdin=None):
    """The status line of the answer, with a member of its body, where that is JSON."""
    words = [arg.replace("BASE", BASE) for arg in args]
    options = ["--ignore-stdin"] if stdin is None else []
    done = subprocess.run([HTTP, *options, "--auth-type=bearer", f"--auth={TOKEN}", "--print=hb", *words], capture_output=True, text=True, input=stdin, check=False)
    head, _, body = done.stdout.partition("\n\n")
    return head.split(" ")[1], json.loads(body).get("resourceType") if body.strip().startswith("{") else ""


def called(*args, stdin=None):
    told(" ".join(["http", *args]).replace("BASE", ""), lambda: status(*args, stdin=stdin))


called("BASE/Patient/p")
called("BASE/Patient", "family==Lovell", "_count==1")
called("BASE/ValueSet/vs/$expand", "filter==bet")
called("POST", "BASE/Patient", "resourceType=Patient", "active:=true")
called("PUT", "BASE/Patient/httpie", "resourceType=Patient", "id=httpie", "name[0][family]=Made")
called("PATCH", "BASE/Patient/httpie", "Content-Type:application/json-patch+json", "[0][op]=add", "[0][path]=/active", "[0][value]:=true")
called("DELETE", "BASE/Patient/httpie")
called("--form", "POST", "BASE/Patient/_search", "family=Lovell")
called("POST", "BASE/ConceptMap/$translate", "resourceType=Parameters", "parameter[0][name]=url", "parameter[0][valueUri]=http://a.example/cm", "parameter[1][name]=system", "parameter[1][valueUri]=http://a.example/cs", "parameter[2][name]=code", "parameter[2][valueCode]=a")
called("BASE/Patient", "Accept:application/fhir+xml")
told("http POST /Patient < FILE", lambda: status("POST", "BASE/Patient", stdin='{"resourceType":"Patient"}'))
