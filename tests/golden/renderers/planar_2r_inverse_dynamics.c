/* inverse_dynamics: 24 operations, 2 sin, 2 cos.
 *   in  q[2] [rad|m]
 *   in  qd[2] [rad/s|m/s]
 *   in  qdd[2] [rad/s2|m/s2]
 *   out tau[2] [N m|N] */
void inverse_dynamics(const double q[2], const double qd[2], const double qdd[2], double tau[2])
{
  const double t0 = cos(q[0]);
  const double t1 = sin(q[0]);
  const double t2 = cos(q[1]);
  const double t3 = sin(q[1]);
  const double t4 = t1*9.81;
  const double t5 = t0*9.81;
  const double t6 = qd[0]*qd[0];
  const double t7 = t4 - t6;
  const double t8 = qdd[0] + t5;
  const double t9 = t2*t8;
  const double t10 = t3*t7;
  const double t11 = t9 - t10;
  const double t12 = qd[0] + qd[1];
  const double t13 = qdd[0] + qdd[1];
  const double t14 = t12*t12;
  const double t15 = qdd[0]*24.899999999999995;
  const double t16 = t0*294.3;
  const double t17 = t15 + t16;
  const double t18 = t13*3.3399999999999994;
  const double t19 = t14*(-7.6);
  const double t20 = t13*7.6;
  const double t21 = t11*7.6;
  const double t22 = t18 + t21;
  const double t23 = t3*t19;
  const double t24 = t2*t20;
  const double t25 = t23 + t24;
  const double t26 = t22 + t25;
  const double t27 = t17 + t26;
  tau[0] = t27;
  tau[1] = t22;
}
