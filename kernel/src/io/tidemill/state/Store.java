package io.tidemill.state;

import io.tidemill.row.Bytes;
import java.util.ArrayList;
import java.util.List;

/**
 * One named store of a task, with the entries touched since the last save held decoded in memory.
 *
 * A hot key is read and written once per batch, however many records it has. A null value means: not there.
 */
public final class Store<T> implements Cached {
  /** Beyond this, a save also forgets what it saved; real-time tasks live long. */
  private static final int KEPT_ENTRIES = 200_000;

  private final Backend backend;
  private final Coder<T> coder;
  private final ByteTable<Cell<T>> cells = new ByteTable<>();
  private final List<Bytes> changed = new ArrayList<>();
  /** What was looked up last: most entries are read and then written, by one and the same key. */
  private Bytes lastKey;
  private Cell<T> last;

  public Store(Backend backend, Coder<T> coder) {
    this.backend = backend;
    this.coder = coder;
  }

  public T get(Bytes key) {
    lastKey = key;
    last = cell(key);
    return last.value;
  }

  private Cell<T> cell(Bytes key) {
    Cell<T> cell = cells.get(key);
    if (cell == null) {
      byte[] bytes = backend.get(key.get());
      cell = new Cell<>(bytes == null ? null : coder.decode(bytes));
      cells.add(key, cell);
    }
    return cell;
  }

  /** Sets the value, or removes the entry when it is null; also to be called after changing a value in place. */
  public void put(Bytes key, T value) {
    Cell<T> cell = key == lastKey ? last : cell(key);
    cell.value = value;
    if (!cell.dirty) {
      cell.dirty = true;
      changed.add(key);
    }
  }

  public void save() {
    for (Bytes key : changed) {
      Cell<T> cell = cells.get(key);
      if (cell.value != null) {
        backend.put(key.get(), coder.encode(cell.value), !cell.stored);
      } else if (cell.stored) {
        backend.remove(key.get());
      }
      cell.stored = cell.value != null;
      cell.dirty = false;
    }
    changed.clear();
    if (cells.size() > KEPT_ENTRIES) {
      forget();
    }
  }

  @Override
  public void forget() {
    cells.clear();
    changed.clear();
    lastKey = null;
    last = null;
  }

  private static final class Cell<T> {
    T value;
    boolean dirty;
    /** Whether the backend has an entry. */
    boolean stored;

    Cell(T value) {
      this.value = value;
      this.stored = value != null;
    }
  }
}
