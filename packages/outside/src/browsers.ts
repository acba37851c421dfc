import { existsSync } from 'node:fs'
import { installDebian } from '../../../test/debian.js'

/** A browser other than Chromium. */
export interface Browser {
  readonly name: string
  /** What it needs, for the names of tests. */
  readonly needs: string
  /** The command that opens the address after it; `undefined` where it is neither there nor can be installed. */
  command(): readonly string[] | undefined
}

const FIREFOX = '/usr/bin/firefox-esr'
/** A browser of WebKit's own tests, which shares the engine of Safari. */
const MINI_BROWSER = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-4.1/MiniBrowser`

export const BROWSERS: readonly Browser[] = [
  {
    name: 'Firefox',
    needs: 'firefox-esr of Debian',
    command: () => (isInstalled([FIREFOX], ['firefox-esr']) ? [FIREFOX, '--headless', '--no-remote'] : undefined),
  },
  {
    name: 'WebKit',
    needs: 'webkit2gtk-driver and xvfb of Debian',
    command: () => {
      const files = [MINI_BROWSER, '/usr/bin/xvfb-run']
      return isInstalled(files, ['webkit2gtk-driver', 'xvfb', 'xauth'])
        ? ['xvfb-run', '--auto-servernum', MINI_BROWSER, '--private']
        : undefined
    },
  },
]

function isInstalled(files: readonly string[], packages: readonly string[]): boolean {
  const areThere = (): boolean => files.every((file) => existsSync(file))
  return areThere() || (installDebian(packages, files.map((file) => `test -x ${file}`).join(' && ')) && areThere())
}
