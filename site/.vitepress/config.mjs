import { sidebar } from '../pages.mjs'

export default {
  title: 'fhir-ops',
  description: 'FHIR R4 operations that you can embed: translate, expand, validate, evaluate-measure, execute',
  srcDir: '.pages',
  outDir: './dist',
  cacheDir: './.vitepress/cache',
  // Where the site is published below a path.
  base: process.env.SITE_BASE ?? '/',
  head: [['link', { rel: 'icon', href: `${process.env.SITE_BASE ?? '/'}icon.svg` }]],
  lastUpdated: false,
  markdown: { config: withPlayground },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'Operations', link: '/operations/expand' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
      { text: 'Reference', link: '/reference/index.html', target: '_self' },
    ],
    sidebar: sidebar(),
    socialLinks: [{ icon: 'github', link: 'https://github.com/fhir-ops/fhir-ops' }],
  },
}

/** A block ```playground with the name of an operation is that operation, to try. It is loaded when it comes into view. */
function withPlayground(md) {
  // The pages are Markdown, not templates: tags and braces in them are text.
  md.set({ html: false })
  md.renderer.rules.text = (tokens, index) => md.utils.escapeHtml(tokens[index].content).replaceAll('{{', '&#123;&#123;')
  md.renderer.rules.code_inline = (tokens, index) => `<code v-pre>${md.utils.escapeHtml(tokens[index].content)}</code>`
  const fence = md.renderer.rules.fence
  md.renderer.rules.code_block = (tokens, index, ...rest) => {
    tokens[index].info = 'text'
    return fence(tokens, index, ...rest)
  }
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info !== 'playground') return fence(tokens, index, ...rest)
    const address = `${process.env.SITE_BASE ?? '/'}playground/index.html#/${content.trim()}`
    return `<iframe class="playground" src="${address}" title="Playground: $${content.trim()}" loading="lazy"></iframe>\n`
  }
}
