// What browsers offer over https only, for pages that came over plain http: a trial in a private network has no
// certificate.

/** A key that nobody else has. */
export const randomKey = (): string => hexOf(crypto.getRandomValues(new Uint8Array(16)));

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Puts a text into the clipboard; to be called by a click. */
export async function copyText(text: string): Promise<void> {
  // Policies of a company may close the clipboard to pages.
  if (isSecureContext && (await isWritten(text))) return;
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', give, { once: true });
  document.execCommand('copy');
}

const isWritten = (text: string): Promise<boolean> =>
  navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
