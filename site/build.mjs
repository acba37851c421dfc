// `npm run site`, after the build of the packages: the documentation with search, the playground, charts and the reference, as static files in
// site/dist. Needs no network once it is installed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { step } from '../scripts/steps.mjs'

const SITE = import.meta.dirname
const OUT = join(SITE, 'dist')

process.exit((await built()) ? 0 : 1)

async function built() {
  if (!isInstalled()) return false
  const { writePages } = await import('./pages.mjs')
  writePages()
  if (!step('Pages', [process.execPath, 'site/node_modules/vitepress/bin/vitepress.js', 'build', 'site'])) return false
  const { writeReference } = await import('./reference.mjs')
  console.log('\n▸ Reference')
  await writeReference(join(OUT, 'reference'))
  const { deadLinks } = await import('./check-links.mjs')
  const dead = deadLinks(OUT)
  for (const link of dead) console.error(`  ${link} leads nowhere`)
  if (dead.length === 0) console.log(`\nThe site is in ${OUT}.`)
  return dead.length === 0
}

function isInstalled() {
  if (existsSync(join(SITE, 'node_modules/.package-lock.json'))) return true
  const args = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error']
  return spawnSync('npm', args, { cwd: SITE, stdio: 'inherit' }).status === 0
}
