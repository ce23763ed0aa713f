# SPDX-License-Identifier: GPL-2.0-only
"""opprobe serve follows its token: whoever rotates it need not start it anew."""

import os

from harness import OrtTarget, check, check_equal, test
from metrics import Serve, wait_for_looks

TOKENS = ["%016d" % number for number in range(4)]
REFUSED_NOW = "the one before it is refused now"


class Secret:
    """A token in a file, swapped as the kubelet does: by a link to the folder that it is in."""

    def __init__(self, t, text):
        self.t, self.versions = t, 0
        self.put(text)
        self.path = t.path("token")
        os.symlink("..data/token", self.path)

    def put(self, text):
        """A version that holds `text`, or, without one, nothing that ends."""
        self.versions += 1
        folder = "..version%d" % self.versions
        os.mkdir(self.t.path(folder))
        token = self.t.path(folder + "/token")
        if text is None:
            os.mkfifo(token)
        else:
            with open(token, "w", encoding="ascii") as file:
                file.write(text)
        os.symlink(folder, self.t.path("..data_tmp"))
        os.rename(self.t.path("..data_tmp"), self.t.path("..data"))

    def serve(self):
        """An opprobe that wants it, and records no others' processes."""
        return Serve(self.t, "-a", "--comm", "rotated", "--listen", "127.0.0.1:0",
                     "--token-file", self.path).waits()


def asked_with(serving, *tokens):
    return [serving.get(Authorization="Bearer " + token)[0] for token in tokens]


@test("a token that is swapped, as the kubelet does, is the only one from then on")
def _(t):
    secret = Secret(t, TOKENS[0])
    serving = secret.serve()
    os.symlink(t.ort_program, t.path("rotated"))
    for old, new in zip(TOKENS, TOKENS[1:]):
        check_equal(asked_with(serving, old, new), [200, 401], "before")
        secret.put(new + "\n")
        serving.probe.wait_for(REFUSED_NOW)
        check_equal(asked_with(serving, old, new), [401, 200], "after")
        # The next ones while something is recorded, by whom its rights were reduced.
        if old == TOKENS[0]:
            t.start(OrtTarget, [t.path("rotated"), t.library("1.30.0"), t.model("tiny")]).ready()
            serving.probe.wait_for("attached")
    # The same file with another word, which another user alone may read, and who looks at it.
    os.chmod(secret.path, 0o400)
    os.chown(secret.path, 65534, 65534)
    with open(secret.path, "w", encoding="ascii") as file:
        file.write(TOKENS[0])
    serving.probe.wait_for(REFUSED_NOW)
    check_equal(asked_with(serving, TOKENS[0], TOKENS[3]), [200, 401], "written over")
    serving.stop()


def broken(what, text, *words):
    """What is no token opens nothing, and is said once."""
    @test("%s in the place of a token leaves the one before it, and is told once" % what)
    def _(t):
        secret = Secret(t, TOKENS[0])
        serving = secret.serve()
        secret.put(text)
        said = serving.probe.wait_for("the token before it stays")
        check(all(word in said for word in (secret.path, *words)), "what is said", said)
        for guess in {"", "0", *(text or "").split(), (text or "")[:256].strip()}:
            check_equal(asked_with(serving, guess.replace("\0", "")), [401], guess)
        check_equal(asked_with(serving, TOKENS[0]), [200], "the one before it")
        wait_for_looks(secret.path, 2, serving.probe.patience())
        secret.put(TOKENS[1])
        serving.probe.wait_for(REFUSED_NOW)
        check_equal(asked_with(serving, *TOKENS[:2]), [401, 200], "after")
        check_equal(serving.probe.stderr.count("the token before it stays"), 1, "how often")
        # The next one is another matter.
        secret.put(text)
        serving.probe.wait_for("the token before it stays")
        check_equal(asked_with(serving, TOKENS[1]), [200], "the one before it")
        serving.stop()


broken("an empty file", "", "empty")
broken("a short word", "short\n", "guessed", "openssl rand")
broken("too long a word", "0" * 257, "256", "openssl rand")
broken("what nobody can send", "0" * 20 + "\0" + "0" * 20, "control character", "openssl rand")
broken("a pipe", None, "no regular file")
