import { startPlayground } from './app.js'

const root = document.querySelector<HTMLElement>('#app')
const base = document.querySelector<HTMLMetaElement>('meta[name=fhir-base]')?.content ?? ''
if (root !== null) startPlayground(root, base)
