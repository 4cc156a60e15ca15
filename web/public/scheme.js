// Chooses light or dark before the first paint. It stands in a file of its
// own because inline scripts are not allowed.
;(function () {
  var stored = null
  try {
    stored = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // A browser that keeps nothing follows the system.
  }
  var dark = stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
