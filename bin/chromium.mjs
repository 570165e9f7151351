// Tests in a browser need Chromium and, for pictures of Chinese pages, a font: the installed ones, else Debian's packages.
import { existsSync } from 'node:fs';

import { canInstall, install } from './apt.mjs';
import { command } from './lifetime.mjs';
import { findProgram } from './process.mjs';
import { Failure } from './step.mjs';

const BROWSER = 'chromium-headless-shell';
const FONTS = ['/usr/share/fonts/opentype/noto', '/usr/share/fonts/truetype/wqy'];

command(async () => {
  const hasFont = FONTS.some((folder) => existsSync(folder));
  const isInstalled = findProgram(BROWSER) !== undefined;
  const missing = [...(isInstalled ? [] : [BROWSER]), ...(hasFont ? [] : ['fonts-noto-cjk'])];
  if (missing.length === 0) return 0;
  if (canInstall()) await install(missing);
  // Without the font the pictures have boxes in place of characters; nothing else differs.
  else if (!isInstalled) throw new Failure(`${BROWSER} is missing; install it and run this again`);
  return 0;
});
