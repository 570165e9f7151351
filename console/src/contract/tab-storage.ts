// What a tab remembers across reloads. A browser that blocks all cookies refuses its sessionStorage: then until a reload.

function isAllowed(): boolean {
  try {
    return Boolean(sessionStorage);
  } catch {
    return false;
  }
}

export const isTabStored = isAllowed();

const memory = new Map<string, string>();

const inMemory = {
  getItem: (name: string): string | null => memory.get(name) ?? null,
  setItem: (name: string, value: string): void => void memory.set(name, value),
  removeItem: (name: string): void => void memory.delete(name),
};

export const tabStorage: typeof inMemory = isTabStored ? sessionStorage : inMemory;

export const namesInTab = (): string[] => (isTabStored ? Object.keys(sessionStorage) : [...memory.keys()]);
