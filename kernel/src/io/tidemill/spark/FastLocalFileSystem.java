package io.tidemill.spark;

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
