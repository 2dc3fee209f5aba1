package io.tidemill.spark;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A lock on a file that lives exactly as long as this JVM, or until it is released.
 *
 * The JVM may outlive the Python process that started it by some seconds, still writing: a lock of Python's own would
 * be free by then.
 */
public final class DirectoryLock {
  private static final long PAUSE_MILLIS = 100;

  private final FileChannel channel;

  private DirectoryLock(FileChannel channel) {
    this.channel = channel;
  }

  /** @return null if somebody else holds it for all of this time */
  public static DirectoryLock acquire(String file, long millis) throws IOException, InterruptedException {
    FileChannel channel = FileChannel.open(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    long deadline = System.nanoTime() + millis * 1_000_000;
    while (true) {
      FileLock lock;
      try {
        lock = channel.tryLock();
      } catch (OverlappingFileLockException e) {
        lock = null;
      }
      if (lock != null) {
        return new DirectoryLock(channel);
      }
      if (System.nanoTime() > deadline) {
        channel.close();
        return null;
      }
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  public void release() throws IOException {
    channel.close();
  }
}
