// Whether nothing of this console is behind the page: it was opened by a link.

/** The router counts the entries of the history. */
export const isFirstPage = (): boolean => !((history.state as { idx?: number } | null)?.idx ?? 0);
