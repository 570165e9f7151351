// How the console is built (build/console/) and served while it is developed.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressed } from './build/compressed.ts';
import { standIns } from './build/stand-ins.ts';

const service = process.env.SERVICE_URL ?? 'http://localhost:3000';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), standIns(), compressed()],
  html: { cspNonce: 'NONCE' },
  build: {
    outDir: '../build/console',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    // Safari asks no more for a script whose preload has failed once, however often the page is reloaded.
    modulePreload: false,
  },
  server: {
    // The service sees the page's own host, so that sockets of the page count as its own.
    proxy: { '/api': service, '/ws': { target: service, ws: true } },
  },
});
