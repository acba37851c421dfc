import { quoted } from '../../../errors/index.js'
import { childrenOf } from '../../walk/children.js'
import { referenceOf } from '../reference/resolve-locally.js'
import type { BundleCheck } from './check-bundle.js'

/** Checks that those who signed a Bundle are in it, where a URN names them. */
export function checkSigners({ run, bundle, index }: BundleCheck): void {
  for (const signature of childrenOf(run, bundle, 'signature')) {
    for (const signer of ['who', 'onBehalfOf'].flatMap((name) => childrenOf(run, signature, name))) {
      const reference = referenceOf(signer)
      if (reference?.startsWith('urn:') !== true || index.byFullUrl.has(reference)) continue
      run.sink.report('bundle-reference-open', signer, {
        text: `There is no entry for ${quoted(reference)}, and a URN cannot be found elsewhere.`,
      })
    }
  }
}
