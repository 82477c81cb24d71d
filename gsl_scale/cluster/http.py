"""One question to a cluster's dashboard, with its token."""

import json
import urllib.error
import urllib.request
from typing import Any

from gsl_scale.cluster.access import Access
from gsl_scale.errors import ClusterError

_SECONDS = 10.0


def get_json(access: Access, path: str) -> Any:
    request = urllib.request.Request(access.address.rstrip("/") + path, headers=access.headers)
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            raise refused(access) from None
        raise ClusterError(f"{access.address} answers {error.code} to {path}.") from None
    except (OSError, ValueError) as error:
        raise unreachable(access, str(getattr(error, "reason", error))) from None


def refused(access: Access) -> ClusterError:
    where = access.token_file or "RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH and ~/.ray/auth_token"
    return ClusterError(
        f"{access.address} refuses the token, or there was none (looked in {where}).",
        "Without it nobody may use the cluster.",
        "Give a cluster file that names the right token file: --cluster FILE",
    )


def unreachable(access: Access, reason: str) -> ClusterError:
    return ClusterError(
        f"{access.address} cannot be reached: {reason}.",
        next_step="Is the cluster running? Here: gsl-scale cluster status",
    )
