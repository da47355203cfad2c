// Builds the web application into services/console/dist, and serves it while one works on it.
import { join } from 'node:path';
import { lingui, linguiTransformerBabelPreset } from '@lingui/vite-plugin';
import babel from '@rolldown/plugin-babel';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The system that `npm run console` talks to. With ALMANAC_TOKEN, a token of a person, calls are
// made with it instead of a session; such a token never gets into a build.
const baseUrl = process.env.ALMANAC_BASE_URL ?? 'http://127.0.0.1:8080';
const token = process.env.ALMANAC_TOKEN;

// Lingui's parts look for their settings here, and one of them advises its native transformer,
// which npm doesn't install on Node 20.
process.env.LINGUI_CONFIG = join(import.meta.dirname, 'lingui.config.ts');
process.env.LINGUI_SUPPRESS_BABEL_WARNING = '1';

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), lingui(), babel({ presets: [linguiTransformerBabelPreset()] })],
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  // The console's server puts a fresh nonce in its place.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: ['chrome114', 'firefox135', 'safari18.4'],
    // Files that are inlined as data: addresses have no hash, and scripts of that kind are refused.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000, // AG Grid; the budgets are of what a browser loads, compressed
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Many small files compress worse than one, and wait for one another: what every page
          // begins with is together.
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: 'start', tags: ['$initial'] },
            { name: 'grid', test: /node_modules\/ag-(grid|charts|stack)-/ },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    strictPort: true,
    proxy: {
      '/console/api': {
        target: baseUrl,
        ...(token && {
          headers: { authorization: `Bearer ${token}` },
          rewrite: (path: string) => path.replace(/^\/console/, ''),
        }),
      },
      '/console/session': { target: baseUrl },
      '/oauth': { target: baseUrl },
    },
  },
});
