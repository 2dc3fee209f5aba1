"""Spark's log: everything that matters into a rolling file, nothing onto the user's terminal."""

from __future__ import annotations

import hashlib
import string
from pathlib import Path

from tidemill.kafka.paths import cache_dir


def write_log_settings(log_file: Path) -> Path:
    """Write the log4j2 settings that send Spark's log to `log_file`; returns their path."""
    text = _SETTINGS.substitute(file=log_file)
    # Named by content, so that two apps with their own log files do not overwrite each other's settings.
    path = cache_dir() / "log4j2" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.properties"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path


_SETTINGS = string.Template("""\
# Written by Tidemill.
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = $file
appender.file.filePattern = $file.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
# Stopping a real-time query interrupts its tasks on purpose; Spark reports each as an error with a trace.
logger.shuffle.name = org.apache.spark.shuffle.streaming
logger.shuffle.level = off
# A batch longer than the trigger interval is what catching up looks like.
logger.trigger.name = org.apache.spark.sql.execution.streaming.runtime.ProcessingTimeExecutor
logger.trigger.level = error
logger.kafkaclients.name = org.apache.kafka
logger.kafkaclients.level = error
""")
