// Browser and operating system of a User-Agent header.
import Bowser from 'bowser';

interface Agent {
  browser: string;
  os: string;
  /** desktop, mobile, tablet or other. */
  device: string;
}

const longest = 500;

/** The header as stored: at most 500 characters. */
export const shortUserAgent = (header: string | undefined): string => (header ?? '').slice(0, longest);

/** Names and major versions; empty when the header has none. */
export function readUserAgent(header: string | undefined): Agent {
  if (!header) return { browser: '', os: '', device: 'other' };
  const { browser, os, platform } = Bowser.parse(header.slice(0, longest));
  const type = platform.type ?? '';
  return {
    device: ['desktop', 'mobile', 'tablet'].includes(type) ? type : 'other',
    browser: [browser.name, browser.version?.split('.')[0]].filter(Boolean).join(' ').slice(0, 50),
    os: [os.name, os.versionName ?? os.version].filter(Boolean).join(' ').slice(0, 50),
  };
}
