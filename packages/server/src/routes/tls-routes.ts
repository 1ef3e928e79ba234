import { deleteCertificate, getCertificates, operatorOperations, updateCertificate } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import type { Tls } from '../tls/tls-service.ts'

/**
 * Serves the certificates. Private keys are accepted, never returned. `onOther`: endpoints have a new
 * certificate.
 */
export function tlsRoutes(mount: Mount, tls: Tls, onOther: () => Promise<void>): void {
  mount(getCertificates, async () => wireOf(tls))

  mount(updateCertificate, async ({ body: { name, certificate, key } }, caller) => {
    await tls.replace(name, { cert: certificate, key }, actorOf(caller))
    if (name === 'proxy') await onOther()
    return wireOf(tls)
  })

  mount(deleteCertificate, async ({ params: { certificate_name: name } }, caller) => {
    await tls.reset(name, actorOf(caller))
    if (name === 'proxy') await onOther()
    return wireOf(tls)
  })
}

/** The same for the operator. */
export function operatorTlsRoutes(mount: Mount, tls: Tls): void {
  mount(operatorOperations.getCertificates, async () => wireOf(tls))
}

/** The public part, without keys. */
async function wireOf(tls: Tls) {
  const { ca, proxy } = await tls.current()
  return { ca_cert: ca, proxy_cert: proxy.cert, api_cert: (await tls.api())?.cert ?? null }
}
