import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Installs packages where the tests run as root on a Debian; false where they do not. Takes half a minute. Of several test files one installs while
 * the others wait.
 *
 * @param isThere A command of the shell that succeeds when they are there.
 */
export function installDebian(packages: readonly string[], isThere: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  const names = packages.join(' ')
  process.stdout.write(`${names}: installed for the tests if absent (apt-get install)\n`)
  const install = `${isThere} 2>/dev/null || { apt-get update -q && RUNLEVEL=1 apt-get install -y -q --no-install-recommends ${names}; }`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // One lock for all packages, because apt refuses to run twice.
  const lock = join(tmpdir(), 'fhir-ops-install.lock')
  return spawnSync('flock', [lock, 'sh', '-c', install], { env, stdio: 'inherit', timeout: 300_000 }).status === 0
}
