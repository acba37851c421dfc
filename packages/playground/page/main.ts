import { startPlayground } from './app.js'

// Within another page there is no room for a second header, and that page has the list of operations.
document.documentElement.toggleAttribute('data-embedded', self !== top)

const root = document.querySelector<HTMLElement>('#app')
const base = document.querySelector<HTMLMetaElement>('meta[name=fhir-base]')?.content ?? ''
if (root !== null) startPlayground(root, base)
