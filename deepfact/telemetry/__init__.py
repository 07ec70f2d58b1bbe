"""What a run tells of itself while it goes on, to whoever listens: logs, traces, metrics.

Engine and loops call `scope` and `event` of `deepfact.telemetry.seam`; listeners are in modules
of their own and loaded only when somebody asks for them. Nothing here changes what a run does:
without a listener both do nothing, and a listener that breaks is dropped.
"""

from deepfact.telemetry.seam import NOTHING as NOTHING
from deepfact.telemetry.seam import Level as Level
from deepfact.telemetry.seam import Scope as Scope
from deepfact.telemetry.seam import close as close
from deepfact.telemetry.seam import current as current
from deepfact.telemetry.seam import event as event
from deepfact.telemetry.seam import listen as listen
from deepfact.telemetry.seam import listen_later as listen_later
from deepfact.telemetry.seam import scope as scope
