// Whether a key belongs to an input method, which takes Enter and arrows for itself.

/** Safari ends the composition before the key that does so: that key has the code of all keys that are taken. */
export const isOfInputMethod = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;
