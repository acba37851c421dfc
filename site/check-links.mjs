// Every link of the built site to a page, part of a page or file of the site leads somewhere.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Links that lead nowhere, as `page: link`. */
export function deadLinks(folder) {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const texts = new Map(pages.map((file) => [join(folder, file), readFileSync(join(folder, file), 'utf8')]))
  const anchors = new Map([...texts].map(([file, text]) => [file, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]))
  return [...texts].flatMap(([file, text]) =>
    linksOf(text)
      .filter((link) => !leadsSomewhere({ folder, file, anchors, link }))
      .map((link) => `${relative(folder, file)}: ${link}`),
  )
}

function linksOf(text) {
  const links = [...text.matchAll(/<(?:a|link|img|script|iframe)\b[^>]*?\s(?:href|src)="([^"]+)"/g)].map(([, link]) => link)
  return [...new Set(links)].filter((link) => !/^([a-z]+:|\/\/)/.test(link))
}

function leadsSomewhere({ folder, file, anchors, link }) {
  const [path, anchor] = link.replaceAll('&amp;', '&').split('#')
  const target = path === '' ? file : fileAt(join(path.startsWith('/') ? folder : dirname(file), decodeURIComponent(path.split('?')[0])))
  if (target === undefined) return false
  // What begins with a slash is a place within the playground.
  return !anchor || anchor.startsWith('/') || !anchors.has(target) || anchors.get(target).has(decodeURIComponent(anchor))
}

function fileAt(path) {
  return [path, `${path}.html`, join(path, 'index.html')].find((file) => existsSync(file) && statSync(file).isFile())
}
