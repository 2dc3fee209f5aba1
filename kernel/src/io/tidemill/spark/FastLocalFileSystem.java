package io.tidemill.spark;

import io.tidemill.sink.Failpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system without its two costs per file: a .crc twin, and a forked `chmod`.
 *
 * Hadoop forks a process for every permission change where its native library is missing, as it is in the PySpark
 * wheel; a streaming batch writes several small files, so those forks were most of its time. Still a
 * {@link LocalFileSystem}, because the RocksDB state store asks for exactly that class.
 */
public final class FastLocalFileSystem extends LocalFileSystem {
  public FastLocalFileSystem() {
    super(new Raw());
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }

  private static final class Raw extends RawLocalFileSystem {
    /** Every file of a checkpoint gets its name at the end: the moments before and after have names, for tests. */
    @Override
    public boolean rename(Path from, Path to) throws IOException {
      String step = stepOf(to);
      if (step == null) {
        return super.rename(from, to);
      }
      Failpoint.reach("before_" + step);
      boolean done = super.rename(from, to);
      Failpoint.reach("after_" + step);
      return done;
    }

    private static String stepOf(Path file) {
      String name = file.getName();
      if (name.endsWith(".changelog")) {
        return "state_changelog";
      }
      if (name.endsWith(".zip")) {
        return "state_snapshot";
      }
      if (name.isEmpty() || !name.chars().allMatch(Character::isDigit) || file.getParent() == null) {
        return null;
      }
      return switch (file.getParent().getName()) {
        case "offsets" -> "offset_log";
        case "commits" -> "commit_log";
        default -> null;
      };
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      try {
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(permission.toString().substring(0, 9)));
      } catch (UnsupportedOperationException notPosix) {
        super.setPermission(path, permission);
      }
    }
  }
}
