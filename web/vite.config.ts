import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The pages are served under a policy that allows scripts from haltd itself
// only: nothing is inlined, and nothing is loaded from elsewhere.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: 'static/app',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
