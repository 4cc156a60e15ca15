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
    // One file of styles for all pages: it is small, and each file is a request.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files, because each is a request: what the first page needs,
          // and what several of the other pages share.
          groups: [
            { name: 'first', tags: ['$initial'] },
            { name: 'parts', minShareCount: 2 },
          ],
        },
      },
    },
  },
})
