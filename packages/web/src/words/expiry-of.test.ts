import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { expiryOf } from './expiry-of.ts'

test('the end of a certificate is read as Node reads it, and what is none is not read', () => {
  for (const pem of rootCertificates) expect(expiryOf(pem)).toBe(Date.parse(new X509Certificate(pem).validTo))
  expect(rootCertificates.length).toBeGreaterThan(50)
  for (const text of ['', 'no certificate', '-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----'])
    expect(expiryOf(text)).toBeNull()
})
